"""scikit-learn's own classes, bound once: with ours in ``sklearn.neighbors`` we must not call ourselves."""

from sklearn.neighbors import *  # noqa: F403
