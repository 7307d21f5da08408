"""Small pairs side by side, one lane of a vector register each.

stage.py      the matrices
entering.py   putting a pair into a lane (steps 1 and 2)
summaries.py  what all pairs of a graph need of it
steps.py      steps 3 and 5 to 9
sinkhorn.py   step 4
products.py   products of small matrices
body.py       the loop: Algorithm 1 for a list of pairs
"""
