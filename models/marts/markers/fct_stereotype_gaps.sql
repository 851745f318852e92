with {{ gaps_of("stereotype_ratio") }}

{{ contracted("gaps_of_outcomes") }}
