// Package slugs has small functions on text.
package slugs

import (
	"strings"
	"unicode"
)

// Slug turns a title into the last part of an address.
func Slug(title string) string {
	isSeparator := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), isSeparator), "-")
}

// Words counts words.
func Words(text string) int {
	return len(strings.Fields(text))
}
