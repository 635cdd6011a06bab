/* The library in a handwritten extension module, which uses only Python.h and pygpu/array_view.h. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <heat.h>
#include <pygpu/array_view.h>

static PyObject *checked(int error) {
    if (error) return PyErr_Format(PyExc_RuntimeError, "heat: error %d", error);
    Py_RETURN_NONE;
}

static PyObject *scale(PyObject *self, PyObject *args) {
    PyObject *object;
    float factor;
    pygpu_array_view x;
    void *stream;
    (void)self;
    if (!PyArg_ParseTuple(args, "Of", &object, &factor)) return NULL;
    if (pygpu_view(object, "x", PYGPU_FLOAT32, 1, PYGPU_WRITE, &x) < 0) return NULL;
    if (pygpu_current_stream(&x, &stream) < 0) return NULL;
    return checked(heat_scale((float *)x.data, x.shape[0], x.strides[0], factor, stream));
}

static PyObject *step(PyObject *self, PyObject *args) {
    PyObject *source, *target;
    pygpu_array_view a, b;
    void *stream;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &source, &target)) return NULL;
    if (pygpu_view(source, "source", PYGPU_FLOAT32, 2, PYGPU_READ, &a) < 0) return NULL;
    if (pygpu_view(target, "target", PYGPU_FLOAT32, 2, PYGPU_WRITE, &b) < 0) return NULL;
    if (a.shape[0] != b.shape[0] || a.shape[1] != b.shape[1]) {
        PyErr_SetString(PyExc_ValueError, "step: the shapes differ");
        return NULL;
    }
    if (pygpu_current_stream(&a, &stream) < 0) return NULL;
    return checked(heat_step((const float *)a.data, a.strides, (float *)b.data, b.strides, a.shape, stream));
}

static PyObject *total(PyObject *self, PyObject *object) {
    pygpu_array_view x;
    void *stream;
    double result;
    int error;
    (void)self;
    if (pygpu_view(object, "x", PYGPU_FLOAT32, 2, PYGPU_READ, &x) < 0) return NULL;
    if (pygpu_current_stream(&x, &stream) < 0) return NULL;
    error = heat_total((const float *)x.data, x.strides, x.shape, &result, stream);
    return error ? checked(error) : PyFloat_FromDouble(result);
}

static PyObject *where(PyObject *self, PyObject *object) {
    pygpu_array_view x;
    (void)self;
    if (pygpu_view(object, "x", PYGPU_ANY_DTYPE, PYGPU_ANY_NDIM, PYGPU_READ, &x) < 0) return NULL;
    return PyLong_FromVoidPtr(x.data);
}

/* Frees memory of heat_new with the last array over it. */
static void give_back(PyObject *capsule) { heat_free(PyCapsule_GetPointer(capsule, NULL)); }

static PyObject *make(PyObject *self, PyObject *args) {
    long long count;
    float *values;
    PyObject *package, *owner, *from_pointer, *arguments, *keywords, *array = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "L", &count)) return NULL;
    if (!(values = heat_new(count))) return PyErr_NoMemory();
    if (!(owner = PyCapsule_New(values, NULL, give_back))) {
        heat_free(values);
        return NULL;
    }
    package = PyImport_ImportModule("PyGPU");
    from_pointer = package ? PyObject_GetAttrString(package, "from_pointer") : NULL;
    arguments = Py_BuildValue("(NLs)", PyLong_FromVoidPtr(values), count, "float32");
    keywords = Py_BuildValue("{sO}", "owner", owner);
    if (from_pointer && arguments && keywords) array = PyObject_Call(from_pointer, arguments, keywords);
    Py_XDECREF(package);
    Py_XDECREF(from_pointer);
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    Py_DECREF(owner);
    return array;
}

static PyMethodDef METHODS[] = {
    {"scale", scale, METH_VARARGS, NULL}, {"step", step, METH_VARARGS, NULL}, {"total", total, METH_O, NULL},
    {"where", where, METH_O, NULL},       {"new", make, METH_VARARGS, NULL},  {NULL, NULL, 0, NULL},
};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "heat_c", NULL, 0, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_heat_c(void) { return PyModuleDef_Init(&MODULE); }
