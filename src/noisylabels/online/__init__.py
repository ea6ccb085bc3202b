"""Learners that see samples only through noise (Cesa-Bianchi, Shalev-Shwartz, Shamir 2011)."""
