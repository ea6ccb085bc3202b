"""Softmax regression of K classes whose labels were flipped at random, and who maximises its likelihood.

max_{W, Omega}  sum_n a_n log P~_n - 2 sum_i penalty_i ||W_i||^2,  F = Z W,  sum_j W_ij = 0.

The columns of W (r, K) sum to zero by themselves where they are penalised, and by choice where they are not.
No class is singled out, so that a permutation of the classes permutes W and Omega. With two classes
f = F_1 - F_0 = Z w has the penalty penalty_i w_i^2 of `noisylabels.solvers.flipped_logistic`.
"""
