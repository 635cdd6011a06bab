// Textures and surfaces in host memory, as CUDA's programming guide defines them ("Texture Fetching"). This header is
// included only if a source may use them.
//
// The handle of a texture is the address of an image (src/cpu_engine/texture_image.rs). An element is read as in
// hardware: each channel becomes a 32-bit word, and the requested type takes its bits from that word.
#ifndef PYGPU_CPU_TEXTURES_H
#define PYGPU_CPU_TEXTURES_H

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef cudaTextureObject_t hipTextureObject_t;
typedef cudaSurfaceObject_t hipSurfaceObject_t;

enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
#define hipReadModeElementType cudaReadModeElementType
#define hipReadModeNormalizedFloat cudaReadModeNormalizedFloat
#define hipBoundaryModeZero cudaBoundaryModeZero
#define hipBoundaryModeClamp cudaBoundaryModeClamp
#define hipBoundaryModeTrap cudaBoundaryModeTrap

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2

namespace pygpu_cpu {

struct image {
    unsigned long long data, row_pitch, plane_pitch, width;
    unsigned height, depth, format, channels;
    unsigned address[3], linear, normalized, as_integer;
    float border[4];
};

inline const image &image_of(unsigned long long object) { return *reinterpret_cast<const image *>(object); }

// The channel type and the number of channels of an element type.
template <class T> struct texel { using part = T; static constexpr unsigned count = 1; };
#define PYGPU_CPU_TEXEL(name, type)                                                                                  \
    template <> struct texel<name##1> { using part = type; static constexpr unsigned count = 1; };                   \
    template <> struct texel<name##2> { using part = type; static constexpr unsigned count = 2; };                   \
    template <> struct texel<name##3> { using part = type; static constexpr unsigned count = 3; };                   \
    template <> struct texel<name##4> { using part = type; static constexpr unsigned count = 4; };
PYGPU_CPU_TEXEL(char, signed char)
PYGPU_CPU_TEXEL(uchar, unsigned char)
PYGPU_CPU_TEXEL(short, short)
PYGPU_CPU_TEXEL(ushort, unsigned short)
PYGPU_CPU_TEXEL(int, int)
PYGPU_CPU_TEXEL(uint, unsigned int)
PYGPU_CPU_TEXEL(float, float)
#undef PYGPU_CPU_TEXEL

inline unsigned bits_of(float value) { unsigned bits; __builtin_memcpy(&bits, &value, 4); return bits; }
inline float float_of(unsigned bits) { float value; __builtin_memcpy(&value, &bits, 4); return value; }
inline float half_to_float(unsigned short half) {
    unsigned exponent = half >> 10 & 31, mantissa = half & 1023u, sign = unsigned(half & 0x8000u) << 16;
    if (exponent == 31) return float_of(sign | 0x7f800000u | mantissa << 13);
    if (exponent != 0) return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
    float value = float(mantissa) * 5.9604644775390625e-8f;
    return sign ? -value : value;
}

template <class T> T loaded(const unsigned char *from) { T value; __builtin_memcpy(&value, from, sizeof(T)); return value; }

inline unsigned bytes_of_channel(unsigned format) { return format == 1 || format == 8 ? 1 : format == 3 || format == 10 || format == 32 ? 4 : 2; }

// Reads one channel of an element, and returns it as the 32-bit word that the hardware would return.
inline unsigned channel_at(const image &of, const unsigned char *from) {
    bool keep = of.as_integer;
    switch (of.format) {
    case 1: { unsigned v = *from; return keep ? v : bits_of(float(v) / 255.0f); }
    case 2: { unsigned v = loaded<unsigned short>(from); return keep ? v : bits_of(float(v) / 65535.0f); }
    case 8: { int v = loaded<signed char>(from); return keep ? unsigned(v) : bits_of(v < -127 ? -1.0f : float(v) / 127.0f); }
    case 9: { int v = loaded<short>(from); return keep ? unsigned(v) : bits_of(v < -32767 ? -1.0f : float(v) / 32767.0f); }
    case 16: return bits_of(half_to_float(loaded<unsigned short>(from)));
    default: return loaded<unsigned>(from);
    }
}

// Converts the border colour to the element type.
inline unsigned border_of(const image &of, unsigned channel) {
    float value = of.border[channel];
    bool is_integer = of.format != 16 && of.format != 32;
    return is_integer && (of.as_integer || bytes_of_channel(of.format) == 4) ? unsigned(int(value)) : bits_of(value);
}

struct words { unsigned word[4]; };

// Returns the element at x, y, z, or the border colour if the position is outside of the image.
inline words element(const image &of, long long x, long long y, long long z) {
    words result = {};
    bool inside = x >= 0 && x < (long long)of.width && y >= 0 && y < (long long)of.height && z >= 0 && z < (long long)of.depth;
    unsigned size = bytes_of_channel(of.format);
    const unsigned char *from = reinterpret_cast<const unsigned char *>(of.data) + z * (long long)of.plane_pitch +
                                y * (long long)of.row_pitch + x * (long long)(size * of.channels);
    for (unsigned channel = 0; channel < of.channels; channel++)
        result.word[channel] = inside ? channel_at(of, from + channel * size) : border_of(of, channel);
    return result;
}

template <class T> T as(const words &from) {
    using part = typename texel<T>::part;
    union { T value; part parts[texel<T>::count]; } result = {T{}};
    for (unsigned channel = 0; channel < texel<T>::count; channel++) {
        if constexpr (is<part, float>) result.parts[channel] = float_of(from.word[channel]);
        else result.parts[channel] = part(from.word[channel]);
    }
    return result.value;
}

// Applies the address mode to an index that may be outside of the axis. Returns the resulting index, or -1 if the
// border colour must be used.
inline long long resolved(long long index, long long count, unsigned mode, bool normalized) {
    if (index >= 0 && index < count) return index;
    if (mode == cudaAddressModeBorder) return -1;
    if (mode == cudaAddressModeWrap && normalized) return (index % count + count) % count;
    // With mirroring, the neighbour beyond an edge is the edge element itself.
    return index < 0 ? 0 : count - 1;
}

struct place { long long low, high; float weight; };

// Converts a coordinate along an axis to one element, or to two elements and the weight of the second one.
inline place placed(const image &of, int axis, float coordinate, long long count) {
    unsigned mode = of.address[axis];
    bool normalized = of.normalized;
    double x = coordinate;
    if (normalized) {
        // NaN and infinity are treated as 0, so they select the first element.
        if (!(x - x == 0)) x = 0;
        double whole = __builtin_floor(x);
        if (mode == cudaAddressModeWrap) x -= whole;
        else if (mode == cudaAddressModeMirror) x = (long long)whole % 2 == 0 ? x - whole : 1 - (x - whole);
        x *= double(count);
    } else if (!(x - x == 0)) {
        x = x > 0 ? double(count) : 0;
    }
    const double most = 1099511627776.0;
    x = x < -most ? -most : x > most ? most : x;
    if (!of.linear) {
        long long index = (long long)__builtin_floor(x);
        // Rounding may move the wrapped coordinate beyond the last element.
        if (normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror) && index >= count) index = count - 1;
        index = resolved(index, count, mode, normalized);
        return {index, index, 0.0f};
    }
    double moved = x - 0.5, low = __builtin_floor(moved);
    // 9-bit fixed-point weight with 8 fraction bits.
    float weight = float(__builtin_floor((moved - low) * 256.0 + 0.5) / 256.0);
    long long first = (long long)low;
    return {resolved(first, count, mode, normalized), resolved(first + 1, count, mode, normalized), weight};
}

inline place exactly(long long index) { return {index, index, 0.0f}; }

// Interpolates along one to three axes. There is no interpolation along an axis that the image lacks, or along the axis
// of layers.
template <class T> T sampled(const image &of, const place &x, const place &y, const place &z) {
    if (!of.linear) return as<T>(element(of, x.low, y.low, z.low));
    float sums[4] = {};
    for (int corner = 0; corner < 8; corner++) {
        const place *axes[3] = {&x, &y, &z};
        float weight = 1.0f;
        for (int axis = 0; axis < 3; axis++) weight *= corner >> axis & 1 ? axes[axis]->weight : 1.0f - axes[axis]->weight;
        if (weight == 0.0f) continue;
        words one = element(of, corner & 1 ? x.high : x.low, corner & 2 ? y.high : y.low, corner & 4 ? z.high : z.low);
        for (unsigned channel = 0; channel < of.channels; channel++) sums[channel] += weight * float_of(one.word[channel]);
    }
    words result = {};
    for (unsigned channel = 0; channel < of.channels; channel++) result.word[channel] = bits_of(sums[channel]);
    return as<T>(result);
}

inline long long layer_of(const image &of, int layer) { return layer < 0 ? 0 : layer >= (int)of.depth ? (long long)of.depth - 1 : layer; }
// The layers of a 1-D image are stored as planes, so axis 2 is the axis of layers for every image.
inline long long axis(const image &of, int number) { return number == 0 ? (long long)of.width : number == 1 ? of.height : of.depth; }

// Returns the address of a surface element, or null if the access has no effect. x is in bytes.
inline unsigned char *surface_at(unsigned long long object, long long x, long long y, long long z, unsigned size, int mode,
                                 const char *file, int line) {
    const image &of = image_of(object);
    long long most = (long long)(of.width * of.channels * bytes_of_channel(of.format)) - size;
    bool inside = x >= 0 && x <= most && y >= 0 && y < (long long)of.height && z >= 0 && z < (long long)of.depth;
    if (!inside && mode == cudaBoundaryModeClamp && most >= 0) {
        auto within = [](long long value, long long last) { return value < 0 ? 0 : value > last ? last : value; };
        x = within(x, most), y = within(y, (long long)of.height - 1), z = within(z, (long long)of.depth - 1);
    } else if (!inside) {
        if (mode == cudaBoundaryModeTrap) pygpu_cpu_trap(file, line);
        return nullptr;
    }
    return reinterpret_cast<unsigned char *>(of.data) + z * (long long)of.plane_pitch + y * (long long)of.row_pitch + x;
}

}

#define PYGPU_CPU_ARGUMENTS(...) __VA_ARGS__
// Defines a function in two forms: one form returns the element, the other form stores the element through a pointer.
#define PYGPU_CPU_FETCH(name, parameters, arguments, ...)                                                            \
    template <class T> inline T name(cudaTextureObject_t texture, parameters) {                                      \
        const ::pygpu_cpu::image &of = ::pygpu_cpu::image_of(texture);                                               \
        return __VA_ARGS__;                                                                                          \
    }                                                                                                                \
    template <class T> inline void name(T *element, cudaTextureObject_t texture, parameters) {                       \
        *element = name<T>(texture, arguments);                                                                      \
    }
#define PYGPU_CPU_AT(number, coordinate) ::pygpu_cpu::placed(of, number, coordinate, ::pygpu_cpu::axis(of, number))
#define PYGPU_CPU_NONE ::pygpu_cpu::exactly(0)
#define PYGPU_CPU_LAYER ::pygpu_cpu::exactly(::pygpu_cpu::layer_of(of, layer))

PYGPU_CPU_FETCH(tex1Dfetch, int x, x, ::pygpu_cpu::as<T>(::pygpu_cpu::element(of, x, 0, 0)))
PYGPU_CPU_FETCH(tex1D, float x, x, ::pygpu_cpu::sampled<T>(of, PYGPU_CPU_AT(0, x), PYGPU_CPU_NONE, PYGPU_CPU_NONE))
PYGPU_CPU_FETCH(tex1DLod, PYGPU_CPU_ARGUMENTS(float x, float), PYGPU_CPU_ARGUMENTS(x, 0.0f), tex1D<T>(texture, x))
PYGPU_CPU_FETCH(tex2D, PYGPU_CPU_ARGUMENTS(float x, float y), PYGPU_CPU_ARGUMENTS(x, y),
                ::pygpu_cpu::sampled<T>(of, PYGPU_CPU_AT(0, x), PYGPU_CPU_AT(1, y), PYGPU_CPU_NONE))
PYGPU_CPU_FETCH(tex2DLod, PYGPU_CPU_ARGUMENTS(float x, float y, float), PYGPU_CPU_ARGUMENTS(x, y, 0.0f), tex2D<T>(texture, x, y))
PYGPU_CPU_FETCH(tex3D, PYGPU_CPU_ARGUMENTS(float x, float y, float z), PYGPU_CPU_ARGUMENTS(x, y, z),
                ::pygpu_cpu::sampled<T>(of, PYGPU_CPU_AT(0, x), PYGPU_CPU_AT(1, y), PYGPU_CPU_AT(2, z)))
PYGPU_CPU_FETCH(tex3DLod, PYGPU_CPU_ARGUMENTS(float x, float y, float z, float), PYGPU_CPU_ARGUMENTS(x, y, z, 0.0f),
                tex3D<T>(texture, x, y, z))
PYGPU_CPU_FETCH(tex1DLayered, PYGPU_CPU_ARGUMENTS(float x, int layer), PYGPU_CPU_ARGUMENTS(x, layer),
                ::pygpu_cpu::sampled<T>(of, PYGPU_CPU_AT(0, x), PYGPU_CPU_NONE, PYGPU_CPU_LAYER))
PYGPU_CPU_FETCH(tex1DLayeredLod, PYGPU_CPU_ARGUMENTS(float x, int layer, float), PYGPU_CPU_ARGUMENTS(x, layer, 0.0f),
                tex1DLayered<T>(texture, x, layer))
PYGPU_CPU_FETCH(tex2DLayered, PYGPU_CPU_ARGUMENTS(float x, float y, int layer), PYGPU_CPU_ARGUMENTS(x, y, layer),
                ::pygpu_cpu::sampled<T>(of, PYGPU_CPU_AT(0, x), PYGPU_CPU_AT(1, y), PYGPU_CPU_LAYER))
PYGPU_CPU_FETCH(tex2DLayeredLod, PYGPU_CPU_ARGUMENTS(float x, float y, int layer, float), PYGPU_CPU_ARGUMENTS(x, y, layer, 0.0f),
                tex2DLayered<T>(texture, x, y, layer))

#define PYGPU_CPU_SURFACE(dimensions, parameters, arguments, x, y, z)                                                \
    template <class T>                                                                                               \
    inline void surf##dimensions##read(T *element, cudaSurfaceObject_t surface, parameters,                          \
                                       int mode = cudaBoundaryModeTrap, PYGPU_CPU_PLACE) {                           \
        const unsigned char *from = ::pygpu_cpu::surface_at(surface, x, y, z, sizeof(T), mode, file, line);          \
        *element = from ? ::pygpu_cpu::loaded<T>(from) : T{};                                                        \
    }                                                                                                                \
    template <class T>                                                                                               \
    inline T surf##dimensions##read(cudaSurfaceObject_t surface, parameters, int mode = cudaBoundaryModeTrap,        \
                                    PYGPU_CPU_PLACE) {                                                               \
        T element;                                                                                                   \
        surf##dimensions##read(&element, surface, arguments, mode, file, line);                                      \
        return element;                                                                                              \
    }                                                                                                                \
    template <class T>                                                                                               \
    inline void surf##dimensions##write(T element, cudaSurfaceObject_t surface, parameters,                          \
                                        int mode = cudaBoundaryModeTrap, PYGPU_CPU_PLACE) {                          \
        if (unsigned char *to = ::pygpu_cpu::surface_at(surface, x, y, z, sizeof(T), mode, file, line))              \
            __builtin_memcpy(to, &element, sizeof(T));                                                               \
    }
PYGPU_CPU_SURFACE(1D, int x, x, x, 0, 0)
PYGPU_CPU_SURFACE(2D, PYGPU_CPU_ARGUMENTS(int x, int y), PYGPU_CPU_ARGUMENTS(x, y), x, y, 0)
PYGPU_CPU_SURFACE(3D, PYGPU_CPU_ARGUMENTS(int x, int y, int z), PYGPU_CPU_ARGUMENTS(x, y, z), x, y, z)
PYGPU_CPU_SURFACE(1DLayered, PYGPU_CPU_ARGUMENTS(int x, int layer), PYGPU_CPU_ARGUMENTS(x, layer), x, 0, layer)
PYGPU_CPU_SURFACE(2DLayered, PYGPU_CPU_ARGUMENTS(int x, int y, int layer), PYGPU_CPU_ARGUMENTS(x, y, layer), x, y, layer)

#undef PYGPU_CPU_SURFACE
#undef PYGPU_CPU_FETCH
#undef PYGPU_CPU_AT
#undef PYGPU_CPU_NONE
#undef PYGPU_CPU_LAYER
#undef PYGPU_CPU_ARGUMENTS

#endif
