"""Learners that see every instance only through noise: Cesa-Bianchi, Shalev-Shwartz and Shamir, 2011.

One learner per file, named by its file; `base` is their contract, `oracles` hands out the noisy copies.
"""
