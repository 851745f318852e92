{{ gaps_mart("stereotype_ratio", "scheme") }}
