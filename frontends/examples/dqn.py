"""A deep Q-network, which learns to balance a pole on a cart.

    tools/dev python frontends/examples/dqn.py [--steps N] [--dump dqn.tess]

V. Mnih et al.: Human-level control through deep reinforcement learning, 2015, with H. van Hasselt's
double Q-learning. The cart is that of A. Barto, R. Sutton, C. Anderson, 1983, simulated here. The
file is the network: what each push is worth.
"""

import numpy as np
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera import jit
from tessera.optimizer import Adam

LONGEST, DISCOUNT, KEPT = 200, 0.99, 10_000  # steps of an episode; transitions in the memory
INPUTS = {"state": {0: training.BATCH}}


class CartPole:
    """Position, speed, angle and angular speed, in m, s and radians; pushes of 10 N to a side."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.reset()

    def reset(self):
        """A new episode: upright, almost."""
        self.state, self.age = self.random.uniform(-0.05, 0.05, 4), 0
        return self.state.astype(np.float32)

    def step(self, push):
        """0.02 s with a push to the left (0) or right (1): state, reward, and whether it fell."""
        x, speed, angle, turn = self.state
        force, sin, cos = 20.0 * push - 10.0, np.sin(angle), np.cos(angle)
        common = (force + 0.05 * turn**2 * sin) / 1.1
        spin = (9.8 * sin - cos * common) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        pull = common - 0.05 * spin * cos / 1.1
        self.state = self.state + 0.02 * np.array([speed, pull, turn, spin])
        self.age += 1
        is_down = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * np.pi / 180
        return self.state.astype(np.float32), 1.0, bool(is_down)


class QNetwork(M.Module):
    """float[N, 4] -> the value of each push, float[N, 2]; and an older one, that it learns from."""

    def __init__(self, hidden=64):
        super().__init__()
        self.online, self.target = (
            M.Sequential(
                M.Linear(4, hidden), M.ReLU(),
                M.Linear(hidden, hidden), M.ReLU(),
                M.Linear(hidden, 2),
            )
            for _ in range(2)
        )  # fmt: skip
        self.catch_up()

    def forward(self, state):
        """See the class."""
        return self.online(state)

    def catch_up(self):
        """The older one becomes the newer one."""
        self.target.load_state_dict(self.online.state_dict())


class Memory:
    """The last transitions."""

    def __init__(self):
        self.rows, self.next = [], 0

    def add(self, *transition):
        """In the place of the oldest one, when it is full."""
        self.rows[self.next : self.next + 1] = [transition]
        self.next = (self.next + 1) % KEPT

    def sample(self, random, count):
        """States float32[count, 4], pushes int32[count], rewards float32[count], states after
        them, and float32[count]: 1 where the pole fell.
        """
        chosen = [self.rows[i] for i in random.randint(0, len(self.rows), count)]
        columns = [np.array(each) for each in zip(*chosen, strict=True)]
        dtypes = "float32", "int32", "float32", "float32", "float32"
        return [each.astype(dtype) for each, dtype in zip(columns, dtypes, strict=True)]


def play(memory, cart, policy, steps):
    """Adds transitions; gives the lengths of the episodes that ended."""
    lengths, state = [], cart.state.astype(np.float32)
    for _ in range(steps):
        push = policy(state)
        after, reward, is_down = cart.step(push)
        memory.add(state, push, reward, after, is_down)
        state = after
        if is_down or cart.age == LONGEST:
            lengths.append(cart.age)
            state = cart.reset()
    return lengths


def batch(seed, count):
    """Transitions of pushes at random."""
    random, memory = np.random.RandomState(seed), Memory()
    play(memory, CartPole(seed), lambda state: random.randint(2), 4 * count)
    return memory.sample(random, count)


def loss(model, state, push, reward, after, is_down):
    """Huber loss of the values against rewards and what the older network says of the best push."""
    best = F.argmax(model.online(after), axis=1)
    later = F.gather(model.target(after), 1, F.expand_dims(best, 1))[:, 0]
    wanted = (reward + DISCOUNT * later * (1 - is_down)).detach()
    value = F.gather(model.online(state), 1, F.expand_dims(push, 1))[:, 0]
    return F.loss.huber_loss(value, wanted)


def training_step(model):
    """Adam, on the newer network."""
    return training.step_of(model, loss, Adam(model.online.parameters(), lr=1e-3))


def learn(model, options):
    """Plays and trains in turn, at first with many pushes at random."""
    step = training_step(model)
    step = step if options.eager else jit.trace(step, symbolic=True)
    value = jit.trace(model)
    memory, cart, random, lengths = Memory(), CartPole(0), np.random.RandomState(0), []
    play(memory, cart, lambda state: random.randint(2), 4 * options.count)
    for number in range(options.steps):
        chance = max(0.05, 1 - 2 * number / options.steps)

        def policy(state, chance=chance):
            if random.rand() < chance:
                return random.randint(2)
            return int(value(mge.tensor(state[None])).numpy().argmax())

        lengths += play(memory, cart, policy, 2)
        wrong = step(*training.tensors(memory.sample(random, options.count)))
        if number % 100 == 0:
            model.catch_up()
        if number % max(1, options.steps // 10) == 0 or number == options.steps - 1:
            mean = np.mean(lengths[-10:] or [0])
            print(f"step {number}: loss {wrong.item():.4f}, the last episodes {mean:.0f} steps")


def main(arguments=None):
    """Trains, tells for how long the pole stands then, and dumps."""
    options = training.parser(__doc__, steps=6000).parse_args(arguments)
    mge.random.seed(0)
    model = QNetwork()
    learn(model, options)
    with mge.no_grad():
        best = lambda state: int(model(mge.tensor(state[None])).numpy().argmax())  # noqa: E731
        lengths = play(Memory(), CartPole(1), best, 5 * LONGEST)
    print(f"without pushes at random: {np.mean(lengths or [LONGEST]):.0f} of {LONGEST} steps")
    training.finish(model, INPUTS, batch(0, 4), options)


if __name__ == "__main__":
    main()
