"""The slow twin of the counter-based generator: Philox4x32-10 in plain integers, from its paper's figures."""

WORD = 2**32


def philox(counter, key):
    """Four 32-bit words from four counter words and two key words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high_0, low_0 = divmod(0xD2511F53 * c0, WORD)
        high_1, low_1 = divmod(0xCD9E8D57 * c2, WORD)
        c0, c1, c2, c3 = high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return c0, c1, c2, c3


def draw(seed, iteration, trajectory, decision, purpose):
    """64 random bits for one use of chance."""
    words = philox((decision, purpose, trajectory, iteration), (seed % WORD, seed // WORD))
    return words[0] * WORD + words[1]


class Chance:
    """The random numbers of one bot decision, as naive_bots asks for them."""

    def __init__(self, seed, trajectory, decision, bot_purpose, noise_purpose):
        self.bot = draw(seed, 0, trajectory, decision, bot_purpose)
        self.noise = draw(seed, 0, trajectory, decision, noise_purpose)

    def uniform(self, n):
        return self.bot * n // 2**64

    def coin(self, probability):
        return self.noise < probability.numerator * 2**64 // probability.denominator
