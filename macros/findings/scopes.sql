{#- Names or wordings of each group from which on a finding speaks of the group, and not of these names or this wording alone. -#}
{% macro carriers_of_a_group() -%}
    5
{%- endmacro %}

{#- What a finding's scope says, as a sentence; null where it needs none. -#}
{% macro scope_sentence(scope) -%}
    case {{ scope }}
        when 'names' then 'It speaks of these names alone, fewer than {{ carriers_of_a_group() }} a group, and only warns'
        when 'wording' then 'It speaks of this wording of each group'
    end
{%- endmacro %}

{#- What would let a finding speak of the group. -#}
{% macro scope_advice(scope) -%}
    case {{ scope }}
        when 'names' then 'At least {{ carriers_of_a_group() }} names a group would let it speak of the group'
        when 'wording' then 'At least {{ carriers_of_a_group() }} wordings of each group would let it speak of the group'
    end
{%- endmacro %}
