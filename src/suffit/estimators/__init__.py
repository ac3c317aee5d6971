"""The scikit-learn classes: constructors, fitted attributes and the methods that every one of them has."""
