package planner

import (
	"fmt"
	"math"
	"slices"
)

// QueueEstimate is the wait for a session to start, in hours. Low and High are its 10 % and 90 % quantiles.
type QueueEstimate struct {
	Median, Mean, Low, High float64
	N                       int    // own waits it rests on
	Basis                   string // BasisPrior or BasisHistory
	Source                  string
	mu, sigma               float64
}

// The prior of the wait for a TPU session: log-normal with median 2 h and 90 % quantile 13 h. Public reports range from 7
// minutes to 24 hours; the numbers are our choice until a person's own waits replace them.
const (
	queueMedianH = 2.0
	queueHighH   = 13.0
	// The prior counts as much as this many own waits.
	queueWeight = 3
	// shortestWait keeps the logarithm finite: half a minute, what a GPU session takes to start.
	shortestWait = .5 / 60
)

var queueSigma = math.Log(queueHighH/queueMedianH) / NormalQuantile(.9) // 1.460

// EstimateQueue reckons the wait for a session of a pool from a person's own waits, in hours. TPU waits are log-normal;
// own waits and the prior are blended as if the prior were three waits, mean and spread alike, so that after some twenty of
// their own nothing of it is left. GPU and CPU sessions start within half a minute, which the start-up holds already: there
// the estimate is zero unless own waits say otherwise.
func EstimateQueue(pool Pool, ownHours []float64) QueueEstimate {
	var logs []float64
	for _, h := range ownHours {
		if h >= 0 && !math.IsInf(h, 0) {
			logs = append(logs, math.Log(max(h, shortestWait)))
		}
	}
	if pool != TPU {
		return waitsAsTheyWere(logs)
	}
	n := float64(len(logs))
	mean, ss := 0.0, 0.0
	for _, x := range logs {
		mean += x / n
	}
	for _, x := range logs {
		ss += (x - mean) * (x - mean)
	}
	mu0 := math.Log(queueMedianH)
	w := queueWeight + n
	q := QueueEstimate{N: len(logs), Basis: BasisPrior, mu: (queueWeight*mu0 + n*mean) / w}
	between := 0.0
	if n > 0 {
		between = queueWeight * n / w * (mean - mu0) * (mean - mu0)
	}
	q.sigma = math.Sqrt((queueWeight*queueSigma*queueSigma + ss + between) / w)
	q.Source = "public reports of TPU waits range from 7 minutes to 24 hours: median 2 h, one in ten over 13 h"
	if n > 0 {
		q.Basis = BasisHistory
		q.Source = fmt.Sprintf("%s of your own, weighed against what others reported", countOf(len(logs), "wait"))
	}
	q.Median, q.Mean = math.Exp(q.mu), math.Exp(q.mu+q.sigma*q.sigma/2)
	q.Low, q.High = q.Quantile(.1), q.Quantile(.9)
	return q
}

// waitsAsTheyWere takes own waits without a prior.
func waitsAsTheyWere(logs []float64) QueueEstimate {
	q := QueueEstimate{Basis: BasisPrior, Source: "sessions of this pool start within half a minute when a slot is free", mu: math.Inf(-1)}
	if len(logs) == 0 {
		return q
	}
	var h []float64
	for _, x := range logs {
		h = append(h, math.Exp(x))
	}
	slices.Sort(h)
	at := func(p float64) float64 { return h[min(int(p*float64(len(h))), len(h)-1)] }
	m := median(h)
	if at(.9) <= .05 {
		q.N, q.Basis = len(h), BasisHistory
		return q // within the start-up
	}
	mean := 0.0
	for _, x := range h {
		mean += x / float64(len(h))
	}
	return QueueEstimate{Median: m, Mean: mean, Low: min(at(.1), m), High: max(at(.9), m), N: len(h), Basis: BasisHistory, Source: fmt.Sprintf("%s of your own", countOf(len(h), "wait")), mu: math.Log(m)}
}

// Quantile is the wait that is not exceeded with probability p.
func (q QueueEstimate) Quantile(p float64) float64 {
	if q.sigma == 0 {
		return math.Exp(q.mu)
	}
	return math.Exp(q.mu + q.sigma*NormalQuantile(p))
}

// Within is the probability that the wait is at most h hours.
func (q QueueEstimate) Within(h float64) float64 {
	switch {
	case math.IsInf(q.mu, -1):
		return 1
	case !(h > 0):
		return 0
	case q.sigma == 0:
		if math.Log(h) >= q.mu {
			return 1
		}
		return 0
	}
	return NormalCDF((math.Log(h) - q.mu) / q.sigma)
}

// WaitFree is a run's time without a queue, in hours: start-up and the waves of its tasks over the devices, each task taking
// hoursT4/ratio.
func WaitFree(startUp float64, tasks, devices int, hoursT4, ratio float64) float64 {
	return startUp + float64(waves(tasks, devices))*hoursT4/ratio
}

// waves is how often all devices are filled: the makespan of equal tasks.
func waves(tasks, devices int) int {
	devices = max(devices, 1)
	return (max(tasks, 1) + devices - 1) / devices
}

// BreakEvenHours is how long one task must take on a T4 for a machine r times as fast to be first in spite of a wait and its
// start-up: (q + s) / (1 - 1/r). Infinite when it is no faster.
func BreakEvenHours(queue, startUp, r float64) float64 {
	if !(r > 1) {
		return math.Inf(1)
	}
	return (queue + startUp) / (1 - 1/r)
}
