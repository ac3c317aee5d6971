"""The families: three shapes (elementwise, simplex, matrix) and one small file for each family."""

from .bernoulli import Bernoulli
from .beta import Beta
from .binned import Binned
from .categorical import Categorical
from .exponential import Exponential
from .gamma import Gamma
from .gaussian import Gaussian, LogNormal
from .geometric import Geometric
from .multinomial import Multinomial
from .multivariate import MultivariateGaussian
from .poisson import Poisson
from .rounding import SingularClassWarning
from .vonmises import VonMises

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
    "SingularClassWarning",
    "VonMises",
]
