// Package branding checks what an operator puts of their own onto Concert's
// pages, and makes colours readable there.
package branding
