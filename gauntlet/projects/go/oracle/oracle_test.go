package slugs

import "testing"

func TestSlugsOfOtherTitles(t *testing.T) {
	for title, wanted := range map[string]string{
		"one -- two":  "one-two",
		"...":         "",
		"  Ü ber  ":   "ü-ber",
		"A1_b2 (c3)!": "a1-b2-c3",
	} {
		if got := Slug(title); got != wanted {
			t.Errorf("Slug of %q is %q", title, got)
		}
	}
}
