"""Layers of the neural baselines, and how they are trained. Everything here needs torch.

training  one training loop for all: shuffled batches, the best epoch by validation
batches   graphs as tensors: nodes of all graphs of a batch in one matrix, edges as two lists
gin, dgcnn, patchy_san, capsgnn
          one network each: forward(batch) returns an output with one row per graph, loss(output, batch, classes) what
          is minimised, probabilities(output) one column per class, score(output, classes) the number of right ones;
          gin has one more, which predicts a number
softmax   loss and probabilities of the first three

On a GPU the networks of many folds are trained at once, in a stack:

stacked_training    the same loop for a stack; replay: its steps as CUDA graphs
stack_plan          the networks of a stack, and which graphs each sees at which step
stack_checkpoint    stacks on disk, so that a stopped one goes on
stack_state         weights and optimizers of a stack
stacked_networks    the four networks again, stacked_layers: what they are made of
stacked_batches     one batch per network, padded; neighbour_kernel: sums over neighbours by a Triton kernel
merged_nodes        nodes that GIN cannot tell apart, as one
"""
