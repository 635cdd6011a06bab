/* A consumer of tensors that uses unusual permissions of DLPack. Its deleters release the GIL before they call PyGPU's
 * deleters. They call PyGPU's deleters on threads that Python did not create, nested in other deleters, and after the end
 * of Python.
 *
 * tests/helpers/hostile_consumer/__init__.py builds this file for the running interpreter. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The structures of DLPack 1.x, as its header defines them. */

typedef struct { int32_t type, id; } Device;
typedef struct { uint8_t code, bits; uint16_t lanes; } Type;
typedef struct { void *data; Device device; int32_t ndim; Type dtype; int64_t *shape, *strides; uint64_t byte_offset; } Plain;
typedef struct Managed {
    struct { uint32_t major, minor; } version;
    void *manager_ctx;
    void (*deleter)(struct Managed *);
    uint64_t flags;
    Plain tensor;
} Managed;
typedef struct { struct { uint32_t major, minor; } version; void *prev; } Header;
typedef struct {
    Header header;
    int (*allocate)(Plain *, Managed **, void *, void (*)(void *, const char *, const char *));
    int (*from_object)(void *, Managed **);
    int (*to_object)(Managed *, void **);
    int (*lend)(void *, Plain *);
    int (*current_stream)(int32_t, int32_t, void **);
} Table;

/* A Python object that aborts the process immediately if it is destroyed without the GIL. */

static long sentinels = 0;

static void sentinel_end(PyObject *self) {
    if (!PyGILState_Check()) {
        fputs("a Python object was ended without the GIL\n", stderr);
        abort();
    }
    __atomic_sub_fetch(&sentinels, 1, __ATOMIC_SEQ_CST);
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *sentinel_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)args, (void)keywords;
    PyObject *self = PyObject_Malloc(type->tp_basicsize);
    if (!self) return PyErr_NoMemory();
    PyObject_Init(self, type);
    __atomic_add_fetch(&sentinels, 1, __ATOMIC_SEQ_CST);
    return self;
}

static PyType_Slot sentinel_slots[] = {
    {Py_tp_new, sentinel_new}, {Py_tp_dealloc, sentinel_end}, {0, NULL}};
static PyType_Spec sentinel_spec = {"hostile.Sentinel", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, sentinel_slots};

/* Tensors that wrap tensors of other libraries. */

enum How { KEEP, RELEASE, ENSURE, THREAD, ALLOCATE, HOWS };

typedef struct {
    Managed managed;
    Managed *inner;
    enum How how;
} Wrapped;

static Table *allocator_table = NULL;

static void end_tensor(Managed *inner) {
    if (inner->deleter) inner->deleter(inner);
}

static void *end_in_thread(void *inner) {
    end_tensor(inner);
    return NULL;
}

static void no_error(void *context, const char *kind, const char *text) {
    (void)context;
    fprintf(stderr, "the allocator failed: %s: %s\n", kind, text);
}

static void allocate_and_end(void) {
    int64_t shape[1] = {3};
    Plain prototype = {NULL, {1, 0}, 1, {2, 64, 1}, shape, NULL, 0};
    Managed *made = NULL;
    if (allocator_table && allocator_table->allocate(&prototype, &made, NULL, no_error) == 0) end_tensor(made);
}

static int has_gil(void) {
    return Py_IsInitialized() && PyGILState_GetThisThreadState() && PyGILState_Check();
}

static void end_wrapped(Managed *managed) {
    Wrapped *wrapped = managed->manager_ctx;
    PyGILState_STATE state = PyGILState_UNLOCKED;
    int ensured = wrapped->how == ENSURE && Py_IsInitialized();
    if (ensured) state = PyGILState_Ensure();
    PyThreadState *released = wrapped->how != KEEP && has_gil() ? PyEval_SaveThread() : NULL;
    if (wrapped->how == ALLOCATE) allocate_and_end();
    pthread_t thread;
    if (wrapped->how == THREAD && pthread_create(&thread, NULL, end_in_thread, wrapped->inner) == 0) {
        pthread_join(thread, NULL);
    } else {
        end_tensor(wrapped->inner);
    }
    if (released) PyEval_RestoreThread(released);
    if (ensured) PyGILState_Release(state);
    free(wrapped);
}

static Managed *around(Managed *inner, enum How how) {
    Wrapped *wrapped = calloc(1, sizeof *wrapped);
    if (!wrapped) return NULL;
    wrapped->managed = *inner; /* Shape and strides are those of the wrapped tensor. */
    wrapped->managed.manager_ctx = wrapped;
    wrapped->managed.deleter = end_wrapped;
    wrapped->inner = inner;
    wrapped->how = how;
    return &wrapped->managed;
}

static const char *NAME = "dltensor_versioned", *USED = "used_dltensor_versioned";

static void end_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, NAME)) end_tensor(PyCapsule_GetPointer(capsule, NAME));
}

static Managed *take(PyObject *capsule) {
    Managed *taken = PyCapsule_GetPointer(capsule, NAME);
    if (!taken || PyCapsule_SetName(capsule, USED) != 0) return NULL;
    return taken;
}

static PyObject *give(Managed *managed) {
    return managed ? PyCapsule_New(managed, NAME, end_capsule) : PyErr_NoMemory();
}

/* wrap(capsule, how): return a tensor that wraps the tensor of the capsule. */
static PyObject *wrap(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *capsule;
    int how;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &how)) return NULL;
    if (how < 0 || how >= HOWS) return PyErr_Format(PyExc_ValueError, "how=%d", how);
    Managed *taken = take(capsule);
    return taken ? give(around(taken, how)) : NULL;
}

static Table *table_of(PyObject *type) {
    PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    if (!capsule) return NULL;
    Table *table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_DECREF(capsule);
    return table;
}

/* exported(object): export the object by the exchange table of its type, and return the tensor. */
static PyObject *exported(PyObject *self, PyObject *object) {
    (void)self;
    Table *table = table_of((PyObject *)Py_TYPE(object));
    Managed *managed = NULL;
    if (!table || table->from_object(object, &managed) != 0) return NULL;
    return give(managed);
}

/* imported(capsule, type): import a tensor by the exchange table of the type, and return the object. */
static PyObject *imported(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *capsule, *type;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &type)) return NULL;
    Table *table = table_of(type);
    Managed *taken = table ? take(capsule) : NULL;
    void *made = NULL;
    if (!taken || table->to_object(taken, &made) != 0) return NULL;
    return made;
}

/* let_allocate(type): set the type whose exchange table allocates memory in deleters. */
static PyObject *let_allocate(PyObject *self, PyObject *type) {
    (void)self;
    allocator_table = table_of(type);
    if (!allocator_table) return NULL;
    Py_RETURN_NONE;
}

/* call_table_without_gil(object): call the functions of the exchange table of the object's type without the GIL. */
static PyObject *call_table_without_gil(PyObject *self, PyObject *object) {
    (void)self;
    Table *table = table_of((PyObject *)Py_TYPE(object));
    if (!table) return NULL;
    Managed *managed = NULL;
    Plain lent;
    void *made = NULL, *stream = NULL;
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = table->from_object(object, &managed) || table->lend(object, &lent);
    failed = failed || table->current_stream(lent.device.type, lent.device.id, &stream);
    failed = failed || table->to_object(managed, &made);
    Py_END_ALLOW_THREADS
    return failed ? NULL : made;
}

/* Deleter calls for many tensors on separate threads. */

typedef struct { Managed **tensors; Py_ssize_t first, count, step; unsigned pause; } Share;

static void *end_share(void *pointer) {
    Share *share = pointer;
    for (Py_ssize_t at = share->first; at < share->count; at += share->step) {
        end_tensor(share->tensors[at]);
        if (share->pause) usleep(share->pause);
    }
    return NULL;
}

static Managed **take_all(PyObject *list, Py_ssize_t *count) {
    *count = PyList_Size(list);
    Managed **tensors = *count < 0 ? NULL : calloc(*count + 1, sizeof *tensors);
    for (Py_ssize_t at = 0; tensors && at < *count; at++) {
        if (!(tensors[at] = take(PyList_GetItem(list, at)))) return NULL;
    }
    return tensors;
}

/* end_in_threads(capsules, threads): delete all tensors in threads and wait for these; other Python threads can run. */
static PyObject *end_in_threads(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *list;
    Py_ssize_t threads, count;
    if (!PyArg_ParseTuple(args, "O!n", &PyList_Type, &list, &threads)) return NULL;
    Managed **tensors = take_all(list, &count);
    Share *shares = calloc(threads, sizeof *shares);
    pthread_t *ids = calloc(threads, sizeof *ids);
    if (!tensors || !shares || !ids) return NULL;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t at = 0; at < threads; at++) {
        shares[at] = (Share){tensors, at, count, threads, 0};
        if (pthread_create(&ids[at], NULL, end_share, &shares[at])) abort();
    }
    for (Py_ssize_t at = 0; at < threads; at++) pthread_join(ids[at], NULL);
    Py_END_ALLOW_THREADS
    free(ids), free(shares), free(tensors);
    Py_RETURN_NONE;
}

/* end_while_exiting(capsules, pause): start a thread that deletes a tensor every `pause` microseconds, also while and after
 * Python ends. */
static PyObject *end_while_exiting(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *list;
    Share *share = calloc(1, sizeof *share);
    if (!PyArg_ParseTuple(args, "O!I", &PyList_Type, &list, &share->pause)) return NULL;
    share->tensors = take_all(list, &share->count);
    share->step = 1;
    pthread_t thread;
    if (!share->tensors || pthread_create(&thread, NULL, end_share, share)) return NULL;
    pthread_detach(thread);
    Py_RETURN_NONE;
}

static Managed *left[64];
static int lefts = 0;

static void end_left(void) {
    while (lefts > 0) end_tensor(left[--lefts]);
}

/* end_after_python(capsule): delete the tensor after the end of the interpreter (Py_AtExit). */
static PyObject *end_after_python(PyObject *self, PyObject *capsule) {
    (void)self;
    if (lefts == 64) return PyErr_Format(PyExc_ValueError, "64 are left already");
    Managed *taken = take(capsule);
    if (!taken) return NULL;
    if (lefts++ == 0 && Py_AtExit(end_left) != 0) return PyErr_Format(PyExc_RuntimeError, "Py_AtExit");
    left[lefts - 1] = taken;
    Py_RETURN_NONE;
}

static PyObject *alive(PyObject *self, PyObject *none) {
    (void)self, (void)none;
    return PyLong_FromLong(__atomic_load_n(&sentinels, __ATOMIC_SEQ_CST));
}

static PyMethodDef methods[] = {
    {"wrap", wrap, METH_VARARGS, NULL},
    {"exported", exported, METH_O, NULL},
    {"imported", imported, METH_VARARGS, NULL},
    {"let_allocate", let_allocate, METH_O, NULL},
    {"call_table_without_gil", call_table_without_gil, METH_O, NULL},
    {"end_in_threads", end_in_threads, METH_VARARGS, NULL},
    {"end_while_exiting", end_while_exiting, METH_VARARGS, NULL},
    {"end_after_python", end_after_python, METH_O, NULL},
    {"alive", alive, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "hostile", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_hostile(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    PyObject *type = PyType_FromSpec(&sentinel_spec);
    if (!type || PyModule_AddObject(module, "Sentinel", type) != 0) return NULL;
    const char *names[] = {"KEEP", "RELEASE", "ENSURE", "THREAD", "ALLOCATE"};
    for (int how = 0; how < HOWS; how++) PyModule_AddIntConstant(module, names[how], how);
    return module;
}
