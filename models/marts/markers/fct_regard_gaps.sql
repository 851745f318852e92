{{ gaps_mart("negative_regard", "scorer") }}
