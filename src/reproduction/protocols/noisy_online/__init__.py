"""Experiments on learning from noisy instances (Cesa-Bianchi, Shalev-Shwartz and Shamir 2011)."""
