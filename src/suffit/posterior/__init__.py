"""What is done with probabilities: calibrate, decide, shift the prior, reject what is new."""
