"""Layers of the neural baselines, and how they are trained. Everything here needs torch.

batches   graphs as tensors, packed: nodes of all graphs of a batch in one matrix, edges as two lists
training  one loop for all: shuffled batches, the best epoch by validation
gin, dgcnn, patchy_san, capsgnn
          a module each: forward(batch) gives an output with a row a graph, loss(output, batch, classes) what is
          minimised, probabilities(output) one column a class
"""
