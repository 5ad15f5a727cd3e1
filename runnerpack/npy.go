package runnerpack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"codeberg.org/sbinet/npyio/npy"
	"codeberg.org/sbinet/npyio/npy/float16"
)

const (
	maxNpyBytes  = 2 << 30
	maxNpyHeader = 1 << 16
)

// ReadNpy reads a numeric array of one or two dimensions from a .npy file:
// booleans, integers and floats of any width and byte order, C or Fortran order.
// Anything else (objects, complex numbers, three dimensions, a file cut short)
// is an error that says so. Integers beyond 2^53 lose their last digits.
func ReadNpy(path string) (Array, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return Array{}, err
	}
	defer f.Close()
	if info.Size() > maxNpyBytes {
		return Array{}, newPathError(path, fmt.Errorf("%d bytes; at most %d are read", info.Size(), int64(maxNpyBytes)))
	}
	a, err := readNpy(bufio.NewReaderSize(f, 1<<16), info.Size())
	if err != nil {
		return Array{}, newPathError(path, err)
	}
	return a, nil
}

// readNpy reads an array from size bytes.
func readNpy(r *bufio.Reader, size int64) (a Array, err error) {
	// The library trusts the header: it indexes without looking. What it stumbles
	// over is a damaged file all the same.
	defer func() {
		if recover() != nil {
			a, err = Array{}, fmt.Errorf("the header of the array is damaged")
		}
	}()
	header, err := npyHeaderSize(r)
	if err != nil {
		return Array{}, err
	}
	in, err := npy.NewReader(r)
	if err != nil {
		return Array{}, fmt.Errorf("not a NumPy array: %w", err)
	}
	dtype := strings.Trim(in.Header.Descr.Type, `'"`)
	width, ok := npyWidths[strings.TrimLeft(dtype, "<>|=")]
	if !ok {
		return Array{}, fmt.Errorf("an array of type %s is not numeric", clip(dtype, 40))
	}
	rows, cols, err := npyShape(in.Header.Descr.Shape)
	if err != nil {
		return Array{}, err
	}
	if want := header + int64(rows)*int64(cols)*int64(width); size != want {
		return Array{}, fmt.Errorf("%d bytes, and its shape asks for %d: the file is cut short or damaged", size, want)
	}
	values, err := npyValues(in, r, dtype, rows*cols)
	if err != nil {
		return Array{}, err
	}
	if in.Header.Descr.Fortran && rows > 1 && cols > 1 {
		values = transpose(values, rows, cols)
	}
	return Array{Shape: in.Header.Descr.Shape, Values: values}, nil
}

// npyWidths are the bytes of a value.
var npyWidths = map[string]int{
	"b1": 1, "i1": 1, "u1": 1, "i2": 2, "u2": 2, "f2": 2,
	"i4": 4, "u4": 4, "f4": 4, "i8": 8, "u8": 8, "f8": 8,
}

// npyHeaderSize is the length of everything before the values.
func npyHeaderSize(r *bufio.Reader) (int64, error) {
	head, err := r.Peek(12)
	if err != nil || !bytes.HasPrefix(head, []byte("\x93NUMPY")) {
		return 0, fmt.Errorf("not a NumPy array")
	}
	size := 10 + int64(binary.LittleEndian.Uint16(head[8:]))
	if head[6] >= 2 {
		size = 12 + int64(binary.LittleEndian.Uint32(head[8:]))
	}
	if size > maxNpyHeader {
		return 0, fmt.Errorf("the header of the array has %d bytes", size)
	}
	return size, nil
}

// npyShape is the shape as rows and columns.
func npyShape(shape []int) (rows, cols int, err error) {
	rows, cols = 1, 1
	switch len(shape) {
	case 1:
		rows = shape[0]
	case 2:
		rows, cols = shape[0], shape[1]
	default:
		return 0, 0, fmt.Errorf("an array of %d dimensions; one or two can be read", len(shape))
	}
	if rows < 0 || cols < 0 || cols > 0 && rows > maxNpyBytes/cols {
		return 0, 0, fmt.Errorf("an array of shape %v", shape)
	}
	return rows, cols, nil
}

func npyValues(in *npy.Reader, r io.Reader, dtype string, n int) ([]float64, error) {
	if n == 0 {
		return []float64{}, nil
	}
	switch strings.TrimLeft(dtype, "<>|=") {
	case "f8":
		var v []float64
		err := in.Read(&v)
		return v, err
	case "f4":
		return npyRead[float32](in)
	case "f2":
		return readHalf(r, dtype, n)
	case "i1":
		return npyRead[int8](in)
	case "u1":
		return npyRead[uint8](in)
	case "i2":
		return npyRead[int16](in)
	case "u2":
		return npyRead[uint16](in)
	case "i4":
		return npyRead[int32](in)
	case "u4":
		return npyRead[uint32](in)
	case "i8":
		return npyRead[int64](in)
	case "u8":
		return npyRead[uint64](in)
	}
	var v []bool
	err := in.Read(&v)
	out := make([]float64, len(v))
	for i := range v {
		if v[i] {
			out[i] = 1
		}
	}
	return out, err
}

func npyRead[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32](in *npy.Reader) ([]float64, error) {
	var v []T
	if err := in.Read(&v); err != nil {
		return nil, err
	}
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out, nil
}

// readHalf reads float16, which the library decodes but does not read into a slice.
func readHalf(r io.Reader, dtype string, n int) ([]float64, error) {
	raw := make([]byte, 2*n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if strings.HasPrefix(dtype, ">") {
		order = binary.BigEndian
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float16.Float16Frombits(order.Uint16(raw[2*i:])).Float32())
	}
	return out, nil
}

// transpose brings Fortran order into C order.
func transpose(v []float64, rows, cols int) []float64 {
	out := make([]float64, len(v))
	for r := range rows {
		for c := range cols {
			out[r*cols+c] = v[c*rows+r]
		}
	}
	return out
}

// At is the value in row r and column c; a one-dimensional array has one column.
func (a Array) At(r, c int) float64 {
	if len(a.Shape) < 2 {
		return a.Values[r]
	}
	return a.Values[r*a.Shape[1]+c]
}

// Finite says whether every value is a number.
func (a Array) Finite() bool {
	for _, v := range a.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
