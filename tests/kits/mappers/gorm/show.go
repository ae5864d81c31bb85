package main

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"
)

func valueOf(row any) reflect.Value { return reflect.ValueOf(row).Elem() }

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// show writes a value so that equal values are equal texts.
func show(value any) string {
	it := reflect.ValueOf(value)
	if it.Kind() == reflect.Pointer && it.IsNil() {
		return "null"
	}
	if text, err := json.Marshal(value); err == nil {
		return string(text)
	}
	return fmt.Sprintf("%+v", value)
}
