package runnerpack

// rotations sorts the cyclic rotations of data and gives the place at which each
// begins, smallest first. Prefix doubling with counting sorts: every round knows
// the order by twice as many bytes, so n bytes take n log n steps whatever they
// are. Equal rotations (of a periodic text) stand in any order.
func rotations(data []byte) []int32 {
	n := len(data)
	order, rank := make([]int32, n), make([]int32, n)
	next, fresh := make([]int32, n), make([]int32, n)
	var heads [257]int32
	for _, c := range data {
		heads[int(c)+1]++
	}
	for i := range 256 {
		heads[i+1] += heads[i]
	}
	first := heads // a rank is the number of rotations that are smaller
	for i, c := range data {
		order[heads[c]] = int32(i)
		heads[c]++
		rank[i] = first[c]
	}
	place := make([]int32, n)
	for h := 1; h < n; h *= 2 {
		// next: the order by the second half alone, which is the order as it is, h earlier.
		for i, at := range order {
			if at -= int32(h); at < 0 {
				at += int32(n)
			}
			next[i] = at
		}
		// A stable sort by the first half: its ranks say where each class begins.
		for i := range place {
			place[i] = int32(i)
		}
		for _, at := range next {
			r := rank[at]
			order[place[r]] = at
			place[r]++
		}
		last := int32(0)
		classes := 1
		for i, at := range order {
			if i > 0 && (rank[at] != rank[order[i-1]] || rank[wrap(at, h, n)] != rank[wrap(order[i-1], h, n)]) {
				last = int32(i)
				classes++
			}
			fresh[at] = last
		}
		rank, fresh = fresh, rank
		if classes == n {
			break
		}
	}
	return order
}

func wrap(at int32, h, n int) int32 {
	if at += int32(h); at >= int32(n) {
		at -= int32(n)
	}
	return at
}
