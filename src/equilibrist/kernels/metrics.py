"""Numbers that name the metrics of clustering."""

L2, EMD = 0, 1  # Euclidean distance; earth mover's distance of histograms on a line
