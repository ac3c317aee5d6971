"""The families: three shapes (elementwise, counts, gaussian), one small file for each family, and products of them.

Every module in the folders of the shapes is imported, so that a family is registered by lying there.
"""

from importlib import import_module
from pkgutil import iter_modules

from . import counts, elementwise, gaussian
from .counts.binned import Binned
from .counts.categorical import Categorical
from .counts.multinomial import Multinomial
from .counts.text import Text
from .elementwise.bernoulli import Bernoulli
from .elementwise.beta import Beta
from .elementwise.exponential import Exponential
from .elementwise.gamma import Gamma
from .elementwise.geometric import Geometric
from .elementwise.poisson import Poisson
from .elementwise.vonmises import VonMises
from .gaussian.diagonal import Gaussian
from .gaussian.joint import MultivariateGaussian
from .gaussian.lognormal import LogNormal

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
    "Text",
    "VonMises",
]

for _shape in (elementwise, counts, gaussian):
    for _module in iter_modules(_shape.__path__, f"{_shape.__name__}."):
        if not _module.ispkg:
            import_module(_module.name)
