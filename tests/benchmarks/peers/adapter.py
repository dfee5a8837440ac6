"""The methods that each framework's adapter has."""


class Adapter:
    """A framework. A method gives None for a network that it cannot compute, or says nothing of."""

    def threads(self, count):
        """Lets it compute with so many threads, where its environment has not said so."""

    def version(self):
        """The version of what is installed."""
        raise NotImplementedError

    def inference(self, network, inputs):
        """A function without arguments that computes a Network's outputs of arrays and waits."""

    def program(self, network, inputs):
        """A function like that of inference(), of a program that it reads from its own file."""

    def training_step(self, network, inputs):
        """A function without arguments that trains a Network by a batch, and gives the loss."""

    def eager_step(self, network, inputs):
        """A function like that of training_step(), which runs operator by operator."""

    def integers(self, network, inputs):
        """A function like that of inference(), with numbers and weights of int8."""

    def own_integers(self, network, inputs):
        """A function like that of integers(), by the framework's own quantization."""

    def weight_only(self, network, inputs):
        """A function like that of inference(), whose linear layers have weights of integers."""

    def arrays(self, result):
        """Results of such a function as arrays of float32."""
        raise NotImplementedError
