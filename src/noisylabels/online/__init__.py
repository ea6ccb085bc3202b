"""Learners that see every instance only through noise: Cesa-Bianchi, Shalev-Shwartz and Shamir, 2011."""
