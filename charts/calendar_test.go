package charts

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

func sampleCalendar() PlanCalendar {
	hour := func(day, h float64) time.Time { return saturday.Add(time.Duration((day*24 + h) * float64(time.Hour))) }
	return PlanCalendar{Ink: InkGPU, Weeks: []CalendarWeek{
		{From: hour(2, 18), To: hour(7, 0), Quota: 17.4, Blocks: []CalendarBlock{{BlockStart, "cnx384-seed2", 5.7}, {BlockStart, "aug-b", 3}, {BlockFree, "free", 8.7}}},
		{From: hour(7, 0), To: hour(14, 0), Quota: 30, Blocks: []CalendarBlock{{BlockScreens, "6 screens", 6.6}, {BlockPromotion, "promotion", 6}, {BlockPromotion, "promotion", 6}, {BlockFree, "free", 11.4}}},
		{From: hour(14, 0), To: hour(21, 0), Quota: 30, Blocks: []CalendarBlock{{BlockScreens, "6 screens", 6.6}, {BlockPromotion, "promotion", 6}, {BlockFinal, "final models and inference", 4}, {BlockFree, "free", 13.4}}},
		{From: hour(21, 0), To: hour(22, 6), Quota: 30, Lost: 4, Blocks: []CalendarBlock{{BlockFinal, "final models and inference", 18}, {BlockSlack, "slack", 8}}},
	}}
}

func sampleWaits() QueueWaits {
	q := QueueWaits{Ink: InkTPU}
	for i, h := range []float64{2.1, 13.2, 7.4, 0.3, 5.5, 9.9, 11.3} {
		q.Waits = append(q.Waits, QueueWait{Name: "vit-xla", At: saturday.Add(time.Duration(i*31) * time.Hour), Hours: h})
	}
	q.Waits = append(q.Waits, QueueWait{Name: "vit-xla-r2", At: saturday.Add(230 * time.Hour), Hours: 5.2, Waiting: true})
	return q
}

func TestPlanCalendar(t *testing.T) {
	c := sampleCalendar()
	pic := c.Draw(880, 300, lightStyle(1))
	if pic.Empty {
		t.Fatal("nothing is drawn")
	}
	// Under the pointer: a block, the hours that are lost, and nothing outside.
	x, y := pic.ToPixel(1, 3)
	if h, ok := pic.Nearest(x, y); !ok || h.Series != "This week" || h.XText != "cnx384-seed2" || h.YText != "5.7 h" {
		t.Errorf("in the first week %+v", h)
	}
	x, y = pic.ToPixel(19, 28)
	if h, ok := pic.Nearest(x, y); !ok || h.XText != "cannot be burned" || h.YText != "4.0 h" || h.Series != "19 – 20 Dec" {
		t.Errorf("in the last week %+v", h)
	}
	if _, ok := pic.Nearest(1, 1); ok {
		t.Error("beside the plot there is data")
	}
	if got := c.Describe(); got != "Plan to Sun 20 Dec 06:00 over 3 resets: 107.4 h, 8.7 h to start now, 13.2 h in screens, 18.0 h in promotions, 22.0 h for final models and inference, 8.0 h slack, 33.5 h free, 4.0 h that nothing can burn." {
		t.Errorf("told as %q", got)
	}
	var b bytes.Buffer
	if err := c.CSV(&b); err != nil || strings.Count(b.String(), "\n") != 15 || !strings.Contains(b.String(), "2026-12-19T00:00:00Z,2026-12-20T06:00:00Z,lost,cannot be burned,4\n") {
		t.Errorf("%v: %s", err, b.String())
	}
	if names := c.Legend(lightStyle(1)); len(names) != 5 || names[0].Name != BlockStart {
		t.Errorf("legend %+v", names)
	}
}

// No week, a week without hours, one of a few minutes, a year of them, and values that are no hours: all are normal days.
func TestPlanCalendarOfAnyShape(t *testing.T) {
	long := PlanCalendar{}
	for i := range 52 {
		long.Weeks = append(long.Weeks, CalendarWeek{From: saturday.AddDate(0, 0, 7*i), To: saturday.AddDate(0, 0, 7*i+7), Quota: 30,
			Blocks: []CalendarBlock{{BlockScreens, "screens", 6}, {BlockFinal, "final", math.NaN()}}})
	}
	short := PlanCalendar{Weeks: []CalendarWeek{{From: saturday, To: saturday.Add(5 * time.Minute), Quota: 30, Lost: 29.8, Blocks: []CalendarBlock{{BlockFree, "free", .2}}}}}
	for name, c := range map[string]PlanCalendar{"a year": long, "five minutes": short} {
		for _, size := range [][2]int{{900, 300}, {300, 120}, {20, 10}} {
			if pic := c.Draw(size[0], size[1], darkStyle(1)); pic.Image == nil || pic.Empty != (size[0] < 100) {
				t.Errorf("%s at %v: empty %v", name, size, pic.Empty)
			}
		}
	}
	for _, c := range []PlanCalendar{{}, {Weeks: []CalendarWeek{{From: saturday, To: saturday.Add(time.Hour)}}}} {
		if !c.Empty() || !c.Draw(300, 100, lightStyle(1)).Empty {
			t.Errorf("%+v is not empty", c)
		}
	}
}

// What is written on a block can be read, in both themes.
func TestCalendarBlocksCanBeRead(t *testing.T) {
	for _, st := range []Style{lightStyle(1), darkStyle(1)} {
		for _, ink := range []Ink{InkGPU, InkTPU} {
			for _, kind := range []string{BlockStart, BlockScreens, BlockPromotion, BlockFinal, BlockSlack} {
				fill := PlanCalendar{Ink: ink}.fill(kind, st)
				if got := contrast(readable(fill, st.Text, st.Background), fill); got < 4.5 {
					t.Errorf("%s with ink %d on %v: contrast %.2f, want 4.5", kind, ink, fill, got)
				}
			}
		}
	}
}

func TestQueueWaits(t *testing.T) {
	q := sampleWaits()
	if m, ok := q.Median(); !ok || m != 7.4 {
		t.Errorf("median %v %v, want that of the waits that are over", m, ok)
	}
	pic := q.Draw(500, 180, lightStyle(1))
	x, y := pic.ToPixel(230./24, 5.2)
	if h, ok := pic.Nearest(x, y); !ok || h.Series != "vit-xla-r2" || h.YText != "waiting so far 5.2 h" || h.XText != "queued Mon 7 Dec 14:00" {
		t.Errorf("the run that waits: %+v", h)
	}
	if got := q.Describe(); got != "Waits in the queue of 8 runs: median 7.4 h, from 0.3 to 13.2 h; 1 still waiting." {
		t.Errorf("told as %q", got)
	}
	var b bytes.Buffer
	if err := q.CSV(&b); err != nil || !strings.HasPrefix(b.String(), "run,queued_utc,waited_h,waiting\nvit-xla,2026-11-28T00:00:00Z,2.1,false\n") {
		t.Errorf("%v: %s", err, b.String())
	}
	if !(QueueWaits{Waits: []QueueWait{{Name: "x", Hours: 2}, {Name: "y", At: saturday, Hours: math.NaN()}}}).Empty() {
		t.Error("a wait without a time or without hours is drawn")
	}
	lone := QueueWaits{Waits: []QueueWait{{Name: "x", At: saturday, Hours: 0}}}
	if lone.Draw(300, 120, lightStyle(2)).Empty || lone.Describe() != "Wait in the queue of one run: 0.0 h." {
		t.Errorf("one run: %q", lone.Describe())
	}
}
