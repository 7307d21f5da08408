"""Finding graphs: nearest neighbours, landmarks, and the bounds that rule pairs out."""
