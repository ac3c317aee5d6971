"""
The directions that separate
============================

LDA finds the directions in which the class means are far apart, measured in standard deviations within the classes.
Thirteen measurements of wine need two.
"""

from sklearn.datasets import load_wine

from suffit import LDA, figures

wine = load_wine(as_frame=True)
cultivar = wine.target_names[wine.target]
figures.projection(LDA().fit(wine.data, cultivar), wine.data, cultivar)
