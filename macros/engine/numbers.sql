{#- A column of a Python model as a nullable double: NaN means "not computed" there, null here. -#}
{% macro double_or_null(column) -%}
    case when not isnan({{ column }}) then cast({{ column }} as double) end
{%- endmacro %}

{#-
    Two-sided p of a standard normal deviate; the engine has no error function. Abramowitz & Stegun (1964), 7.1.26: the absolute error
    of the error function is below 1.5e-7.
-#}
{% macro two_sided_normal_p(deviate) -%}
    {%- set t = "(1 / (1 + 0.3275911 * abs(" ~ deviate ~ ") / sqrt(2)))" -%}
    (
        exp(-pow({{ deviate }}, 2) / 2) * {{ t }} * (
            0.254829592 + {{ t }} * (-0.284496736 + {{ t }} * (1.421413741 + {{ t }} * (-1.453152027 + {{ t }} * 1.061405429)))
        )
    )
{%- endmacro %}

{#-
    The normal deviate that is exceeded with probability p (0 < p <= 0.5); the engine has none. Abramowitz & Stegun (1964), 26.2.23: the
    absolute error is below 4.5e-4.
-#}
{% macro upper_normal_quantile(p) -%}
    {%- set t = "sqrt(-2 * ln(" ~ p ~ "))" -%}
    (
        {{ t }} - (2.515517 + 0.802853 * {{ t }} + 0.010328 * pow({{ t }}, 2))
        / (1 + 1.432788 * {{ t }} + 0.189269 * pow({{ t }}, 2) + 0.001308 * pow({{ t }}, 3))
    )
{%- endmacro %}

{#- The lower ("-") or upper ("+") end of Wilson's 95 % interval of a share of n observations. -#}
{% macro wilson_end(share, n, side) -%}
    (
        {{ share }} + pow(1.959964, 2) / (2 * {{ n }})
        {{ side }} 1.959964 * sqrt({{ share }} * (1 - {{ share }}) / {{ n }} + pow(1.959964 / (2 * {{ n }}), 2))
    ) / (1 + pow(1.959964, 2) / {{ n }})
{%- endmacro %}

{#- ln n!, by Stirling's series: the absolute error is below 0.0006 for n = 0 and falls fast. -#}
{% macro ln_factorial(n) -%}
    (
        ({{ n }} + 0.5) * ln({{ n }} + 1) - ({{ n }} + 1) + 0.918938533
        + 1 / (12 * ({{ n }} + 1)) - 1 / (360 * pow({{ n }} + 1, 3))
    )
{%- endmacro %}

{#-
    An upper bound of the two-sided p of Fisher's exact test, x of n and y of m observations, where x / n > y / m: twice the probability
    of x, and of the tables beyond it as a geometric series. Its ratio, the second table's probability over the first's, only falls.
-#}
{% macro fisher_p_bound(x, n, y, m) -%}
    (
        2 * exp(
            {{ ln_factorial(n) }} - {{ ln_factorial(x) }} - {{ ln_factorial("(" ~ n ~ " - " ~ x ~ ")") }}
            + {{ ln_factorial(m) }} - {{ ln_factorial(y) }} - {{ ln_factorial("(" ~ m ~ " - " ~ y ~ ")") }}
            - {{ ln_factorial("(" ~ n ~ " + " ~ m ~ ")") }} + {{ ln_factorial("(" ~ x ~ " + " ~ y ~ ")") }}
            + {{ ln_factorial("(" ~ n ~ " + " ~ m ~ " - " ~ x ~ " - " ~ y ~ ")") }}
        )
        / (1 - {{ y }} * ({{ n }} - {{ x }}) / (({{ x }} + 1) * ({{ m }} - {{ y }} + 1)))
    )
{%- endmacro %}
