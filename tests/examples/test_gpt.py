"""The decoder like GPT: what its cache and its sampling give too."""

import gpt
import numpy as np
import tessera
import training

from tests.examples.harness import Example
from tests.support.helper import assert_close


class TestGPT(Example):
    module = gpt
    steps, count = 16, 4

    @classmethod
    def make(cls):
        return gpt.GPT(len(gpt.text()[0]), width=24, heads=2, layers=2)

    @classmethod
    def inference(cls, model):
        return model.eval().generate

    @classmethod
    def arguments(cls, seed, count):
        """Other lengths for each count, which the file takes too."""
        random = np.random.RandomState(seed)
        prompt = random.randint(0, len(gpt.text()[0]), (count, 2 + count))
        return [prompt.astype(np.int32), random.rand(count, 20 - count).astype(np.float32)]

    def test_the_cache_gives_what_the_whole_text_gives(self, eager):
        model, tokens = eager[0], training.tensors(gpt.batch(2, 3))[0]
        with tessera.no_grad():
            whole, caches = model(tokens).numpy(), model.empty_caches(3)
            for at in range(gpt.CONTEXT):
                logits, caches = model.step(tokens[:, at], tessera.tensor(at), caches)
                assert_close(logits, whole[:, at], rtol=1e-4, atol=1e-5)

    def test_characters_are_drawn_with_their_probabilities(self):
        model, count = self.model(), 4000
        logits = tessera.tensor(np.tile(np.log([[0.1, 0.6, 0.3]]), (count, 1)))
        model.characters, model.temperature = 3, 1.0
        uniform = tessera.tensor((np.arange(count) + 0.5) / count)
        drawn = np.bincount(model.sample(logits, uniform).numpy(), minlength=3)
        np.testing.assert_allclose(drawn / count, [0.1, 0.6, 0.3], atol=1e-3)

    def test_a_text_begins_with_its_prompt_and_follows_the_numbers(self, eager):
        prompt, uniform = self.arguments(1, 5)
        generate = self.inference(eager[0])
        first, other = (
            generate(*training.tensors([prompt, u])).numpy() for u in (uniform, 1 - uniform)
        )
        assert first.shape == (5, prompt.shape[1] + uniform.shape[1])
        assert (first[:, : prompt.shape[1]] == prompt).all()
        assert (first != other).any(axis=1).all()
