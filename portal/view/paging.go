package view

// Sizes are the numbers of rows a table page may have. The first is the
// default.
var sizes = [...]int{25, 50, 100}

// Paging says which part of a table a page shows.
type Paging struct {
	Total int // rows in the whole table that match
	Page  int // from 1 to Pages
	Pages int // at least 1
	Size  int // rows of a page: 25, 50 or 100
	// Query is the filter, as it was asked for. Flagged keeps only clients that
	// were banned.
	Query   string
	Flagged bool
	// Searched is how many rows a filter looked at when that was not all of
	// them; 0 otherwise.
	Searched int
	// Where says on which page the rows are that a fragment's keys asked for; 0
	// is gone.
	Where map[string]int
	// Flags are facts about the table that scripts may want.
	Flags map[string]bool
	// Instances are those that the table can be of; none when there is no choice.
	Instances []Instance
}

// Instance is a process whose history can be shown, or all of them together.
type Instance struct {
	Name   string // what chooses it
	Title  string
	Chosen bool
	Silent bool // it did not answer
}

// Offer has the page offer a choice of instances.
func (p *Paging) Offer(instances []Instance) { p.Instances = instances }

// NewPaging clamps a page and a size to what a table of total rows has.
func NewPaging(total, page, size int) Paging {
	p := Paging{Total: max(total, 0), Size: sizes[0]}
	for _, s := range sizes {
		if s == size {
			p.Size = s
		}
	}
	p.Pages = max(1, (p.Total+p.Size-1)/p.Size)
	p.Page = min(max(page, 1), p.Pages)
	return p
}

// First is the index of the page's first row, from 0.
func (p Paging) First() int { return (p.Page - 1) * p.Size }

// Fragment is one page of a table, or one expanded row, for scripts.
type Fragment struct {
	HTML    string          `json:"html"`
	Now     int64           `json:"now"` // Unix milliseconds
	Total   int             `json:"total"`
	Page    int             `json:"page"`
	Pages   int             `json:"pages"`
	Size    int             `json:"size"`
	Where   map[string]int  `json:"where"`
	Summary string          `json:"summary"` // of the table, in words
	Flags   map[string]bool `json:"flags"`
	Status  Status          `json:"status"`
	// Sentence and Explain say what the room does, and what that means.
	Sentence string `json:"sentence"`
	Explain  string `json:"explain"`
}
