"""The variational autoencoder."""

import numpy as np
import vae

from tests.examples.harness import Example


class TestVAE(Example):
    module = vae
    steps, count, learns = 60, 32, 0.7

    @classmethod
    def make(cls):
        return vae.VAE(hidden=32)

    @classmethod
    def inference(cls, model):
        return model.eval().draw

    @classmethod
    def arguments(cls, seed, count):
        codes = np.random.RandomState(seed).standard_normal((count, vae.CODES))
        return [codes.astype(np.float32)]
