"""The families: three shapes (elementwise, counts, gaussian), one small file for each family, and products of them."""

from .counts.binned import Binned
from .counts.categorical import Categorical
from .counts.multinomial import Multinomial
from .elementwise.bernoulli import Bernoulli
from .elementwise.beta import Beta
from .elementwise.exponential import Exponential
from .elementwise.gamma import Gamma
from .elementwise.geometric import Geometric
from .elementwise.poisson import Poisson
from .elementwise.vonmises import VonMises
from .gaussian.diagonal import Gaussian, LogNormal
from .gaussian.joint import MultivariateGaussian

__all__ = [
    "Bernoulli",
    "Beta",
    "Binned",
    "Categorical",
    "Exponential",
    "Gamma",
    "Gaussian",
    "Geometric",
    "LogNormal",
    "Multinomial",
    "MultivariateGaussian",
    "Poisson",
    "VonMises",
]
