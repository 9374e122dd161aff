package ipinfo

// Flags that stand for no country.
const (
	globe     = "\U0001F310"
	whiteFlag = "\U0001F3F3\uFE0F"
)

// reserved is the user-assigned code that registries give to what belongs to no
// country in particular.
const reserved = "ZZ"

// CountryName returns the English name of an ISO 3166-1 alpha-2 code in
// capitals, "Unknown" for [NoCountry] and "", and the code itself when no
// country has it.
func CountryName(code string) string {
	if name, ok := countries[code]; ok {
		return name
	}
	if code == "" || code == NoCountry {
		return "Unknown"
	}
	return code
}

// Flag returns the emoji flag of a code: two regional indicator letters, which
// fonts draw as the flag. [NoCountry] and what is no code have a globe, and ZZ a
// white flag.
func Flag(code string) string {
	switch {
	case code == reserved:
		return whiteFlag
	case len(code) != 2 || !isCapital(code[0]) || !isCapital(code[1]):
		return globe
	}
	const letterA = '\U0001F1E6'
	return string([]rune{letterA + rune(code[0]-'A'), letterA + rune(code[1]-'A')})
}
