package language

// Plural is the form a number asks of the words around it.
type Plural uint8

// The forms, by their names in the Unicode CLDR.
const (
	Other Plural = iota
	Zero
	One
	Two
	Few
	Many
	NumPlurals int = iota
)

// String returns the form's name in CLDR and in Intl.PluralRules.
func (p Plural) String() string {
	return [...]string{"other", "zero", "one", "two", "few", "many"}[p]
}

// Plurals returns the forms the language has, in CLDR's order.
func (l Language) Plurals() []Plural {
	switch l {
	case Japanese, Chinese, Korean:
		return []Plural{Other}
	case French, Spanish, Portuguese, Italian:
		return []Plural{One, Many, Other}
	case Polish:
		return []Plural{One, Few, Many, Other}
	case Arabic:
		return []Plural{Zero, One, Two, Few, Many, Other}
	}
	return []Plural{One, Other}
}

// Plural returns the form for n, which is a whole number from 0 on (Unicode
// CLDR, cardinal plural rules, for numbers without a fraction).
func (l Language) Plural(n int64) Plural {
	switch l {
	case Japanese, Chinese, Korean:
		return Other
	case French, Portuguese:
		return romance(n, n <= 1)
	case Spanish, Italian:
		return romance(n, n == 1)
	case Polish:
		return polish(n)
	case Arabic:
		return arabic(n)
	}
	if n == 1 {
		return One
	}
	return Other
}

// romance knows of whole millions, which take a preposition.
func romance(n int64, one bool) Plural {
	switch {
	case one:
		return One
	case n != 0 && n%1_000_000 == 0:
		return Many
	}
	return Other
}

func polish(n int64) Plural {
	switch units, tens := n%10, n%100; {
	case n == 1:
		return One
	case units >= 2 && units <= 4 && (tens < 12 || tens > 14):
		return Few
	}
	return Many
}

func arabic(n int64) Plural {
	switch hundreds := n % 100; {
	case n == 0:
		return Zero
	case n == 1:
		return One
	case n == 2:
		return Two
	case hundreds >= 3 && hundreds <= 10:
		return Few
	case hundreds >= 11:
		return Many
	}
	return Other
}
