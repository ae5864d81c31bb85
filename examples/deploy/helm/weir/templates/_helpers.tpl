{{- define "weir.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "weir.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* weir.yaml: the values, with what the other templates rely on. */}}
{{- define "weir.config" -}}
{{- $limits := merge (dict "drain_delay_s" .Values.drainDelay "drain_s" .Values.drain) (.Values.config.limits | default dict) -}}
{{- $own := dict "listen" "0.0.0.0:8080" "admin_listen" "0.0.0.0:9090" "limits" $limits -}}
{{- if .Values.threads }}{{ $_ := set $own "threads" .Values.threads }}{{ end -}}
{{- toYaml (merge $own (deepCopy .Values.config)) -}}
{{- end }}
