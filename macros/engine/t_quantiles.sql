{#- The 0.975 quantile of Student's t for 1 to 30 degrees of freedom, and the normal one's expansion beyond (error below 1e-4). -#}
{% macro t_quantile_975(degrees) -%}
    {%- set quantiles = [
        12.70620, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
        2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
        2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227,
    ] -%}
    coalesce({{ quantiles }}[{{ degrees }}], 1.959964 + 2.372271 / ({{ degrees }}) + 2.822499 / pow({{ degrees }}, 2))
{%- endmacro %}
