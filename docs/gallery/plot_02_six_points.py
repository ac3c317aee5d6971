"""
Six points, two Gaussians
=========================

The worked example of the tutorial: one variance for everything, equal priors, and a boundary that is a line.
"""

from suffit import GDA, figures

C1 = [(0.3682, -2.0530), (0.1521, 0.0131), (-1.3033, -0.2105)]
C2 = [(0.9456, 2.6543), (1.3574, 1.0225), (0.4478, 1.0543)]
X, y = C1 + C2, ["C1"] * 3 + ["C2"] * 3
model = GDA("spherical", tie=1).fit(X, y)
figures.boundary(model, X, y)

# %%
# The line, as weights:

model.logistic_form().pair("C1", "C2")
