module benchexec

go 1.25

require (
	github.com/99designs/gqlgen v0.17.98
	github.com/vektah/gqlparser/v2 v2.5.64
)
