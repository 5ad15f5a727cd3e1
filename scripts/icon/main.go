// Command icon draws Icon.png: an hourglass, half run, on a sand-coloured tile.
//
//	go run ./scripts/icon Icon.png
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"

	"golang.org/x/image/vector"
)

const size = 512

type canvas struct{ img *image.RGBA }

// path fills one closed outline given in icon units (0 to 512).
func (c canvas) path(col color.Color, draw func(r *vector.Rasterizer)) {
	r := vector.NewRasterizer(size, size)
	draw(r)
	r.ClosePath()
	r.Draw(c.img, c.img.Bounds(), image.NewUniform(col), image.Point{})
}

func (c canvas) roundRect(col color.Color, x0, y0, x1, y1, rad float32) {
	const k = 0.5523 // cubic approximation of a quarter circle
	c.path(col, func(r *vector.Rasterizer) {
		r.MoveTo(x0+rad, y0)
		r.LineTo(x1-rad, y0)
		r.CubeTo(x1-rad+k*rad, y0, x1, y0+rad-k*rad, x1, y0+rad)
		r.LineTo(x1, y1-rad)
		r.CubeTo(x1, y1-rad+k*rad, x1-rad+k*rad, y1, x1-rad, y1)
		r.LineTo(x0+rad, y1)
		r.CubeTo(x0+rad-k*rad, y1, x0, y1-rad+k*rad, x0, y1-rad)
		r.LineTo(x0, y0+rad)
		r.CubeTo(x0, y0+rad-k*rad, x0+rad-k*rad, y0, x0+rad, y0)
	})
}

// glass traces the two bulbs, inset by d, from y0 to y1.
func glass(r *vector.Rasterizer, d float32) {
	top, bottom := 128+d, 384-d
	left, right := 152+d, 360-d
	neck := 20 - d*0.5
	r.MoveTo(left, top)
	r.LineTo(right, top)
	r.CubeTo(right, 204, 256+neck, 214, 256+neck, 256)
	r.CubeTo(256+neck, 298, right, 308, right, bottom)
	r.LineTo(left, bottom)
	r.CubeTo(left, 308, 256-neck, 298, 256-neck, 256)
	r.CubeTo(256-neck, 214, left, 204, left, top)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: icon OUT.png")
		os.Exit(2)
	}
	var (
		sand  = color.RGBA{0x96, 0x61, 0x0F, 0xFF}
		white = color.RGBA{0xFF, 0xFB, 0xF2, 0xFF}
		dark  = color.RGBA{0x5E, 0x3B, 0x06, 0xFF}
		grain = color.RGBA{0xF0, 0xC2, 0x6A, 0xFF}
	)
	c := canvas{image.NewRGBA(image.Rect(0, 0, size, size))}
	c.roundRect(sand, 24, 24, 488, 488, 104)
	c.path(white, func(r *vector.Rasterizer) { glass(r, 0) })
	c.path(dark, func(r *vector.Rasterizer) { glass(r, 20) })
	// what is left above, the thread that falls, and the heap below
	c.path(grain, func(r *vector.Rasterizer) {
		r.MoveTo(206, 196)
		r.LineTo(306, 196)
		r.CubeTo(288, 216, 262, 226, 258, 256)
		r.LineTo(254, 256)
		r.CubeTo(250, 226, 224, 216, 206, 196)
	})
	c.roundRect(grain, 252, 240, 260, 340, 4)
	c.path(grain, func(r *vector.Rasterizer) {
		r.MoveTo(174, 362)
		r.CubeTo(196, 326, 236, 312, 256, 308)
		r.CubeTo(276, 312, 316, 326, 338, 362)
	})
	c.roundRect(white, 122, 96, 390, 134, 19)
	c.roundRect(white, 122, 378, 390, 416, 19)

	f, err := os.Create(os.Args[1])
	if err == nil {
		err = png.Encode(f, c.img)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "icon:", err)
		os.Exit(1)
	}
}
