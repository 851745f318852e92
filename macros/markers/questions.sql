{#- From how many questions on, that both groups were asked, a gap between names is judged inside questions, too: an error over fewer
    is too little evidence. -#}
{% macro questions_as_cases() -%} 8 {%- endmacro %}
