// Package branding checks what an operator puts of their own onto Concert's
// pages, and makes colours readable there.
//
//	color, err := branding.ParseColor("#0a7cff")
//	ratio := branding.Contrast(color, white) // at least MinContrast is readable
//	media, err := branding.LogoType(file)
//	err = branding.CheckName("The Shop")
//
// Errors of a logo and of a name go on where a sentence names what was checked.
package branding
