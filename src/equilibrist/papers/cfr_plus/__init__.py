"""CFR+ and Cepheus (2015): the claims of the paper compared with our figures."""
