// Package slugs has small functions on text.
package slugs

import (
	"strings"
	"unicode"
)

// Slug turns a title into the last part of an address.
func Slug(title string) string {
	dash := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}
	return strings.Map(dash, strings.ToLower(title))
}

// Words counts words.
func Words(text string) int {
	return len(strings.Fields(text))
}
