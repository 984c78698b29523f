package slugs

import "testing"

func TestLettersBecomeLowerCase(t *testing.T) {
	if got := Slug("Title"); got != "title" {
		t.Errorf("Slug is %q", got)
	}
}

func TestTitlesBecomeSlugs(t *testing.T) {
	for title, wanted := range map[string]string{"two words": "two-words", "a  b": "a-b", " (both) ends ": "both-ends"} {
		if got := Slug(title); got != wanted {
			t.Errorf("Slug of %q is %q", title, got)
		}
	}
}

func TestWordsAreCounted(t *testing.T) {
	if got := Words("one two  three"); got != 3 {
		t.Errorf("Words is %d", got)
	}
}
