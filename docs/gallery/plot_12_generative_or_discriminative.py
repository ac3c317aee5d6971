"""
Generative against discriminative
=================================

Where the assumption of normal classes is right, LDA needs fewer rows than logistic regression for the same error.
"""

from suffit import compare, simulate

X, y = simulate("gaussian", separation=2.5, columns=8).sample(400, random_state=0)
found = compare(X, y, ["LDA", "logistic regression"], robustness=False, progress=False)
found.plot()

# %%

print(found.verdict)
