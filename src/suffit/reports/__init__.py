"""A model and how it does on rows with labels, as one page of HTML that stands alone."""
