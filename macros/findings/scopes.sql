{#- Names or wordings of each group from which on a finding speaks of the group, and not of these names or this wording alone. -#}
{% macro descriptors_of_a_group() -%}
    5
{%- endmacro %}

{#- Whether a finding is a warning at most: two prompts never give quite the same answers, whatever they name. -#}
{% macro is_narrow_scope(scope) -%}
    {{ scope }} in ('names', 'wording')
{%- endmacro %}

{#- A finding's scope as a sentence; null if it needs none. -#}
{% macro scope_sentence(scope, n_descriptors, wording_control, status) -%}
    case {{ scope }}
        when 'names'
            then
                'Fewer than {{ descriptors_of_a_group() }} names of each group were tested'
                || if({{ status }} = 'alarm', ', so this is a warning at most', '')
        when 'wording'
            then
                case
                    when {{ n_descriptors }} > 1
                        then printf('Only %d wordings of each group were tested', {{ n_descriptors }})
                    else 'Only one wording was tested'
                end
                || coalesce(
                    printf('; the same measure between two wordings of one group gives %s', {{ in_display_unit(wording_control) }}),
                    '; another wording of the same group may differ as much'
                )
    end
{%- endmacro %}

{#-
    From how many names or wordings on a finding holds for the group. Where wordings are the units that min_units counts (`counts_wordings`, a
    condition), as many as these are needed.
-#}
{% macro scope_advice(scope, counts_wordings, min_units) -%}
    case {{ scope }}
        when 'names'
            then printf(
                'With at least %d names a group, the finding would hold for the whole group',
                if({{ counts_wordings }}, greatest({{ descriptors_of_a_group() }}, {{ min_units }}), {{ descriptors_of_a_group() }})
            )
        when 'wording'
            then printf(
                'With at least %d wordings of each group, the finding would hold for the whole group',
                if({{ counts_wordings }}, greatest({{ descriptors_of_a_group() }}, {{ min_units }}), {{ descriptors_of_a_group() }})
            )
    end
{%- endmacro %}
