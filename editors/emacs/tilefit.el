;;; tilefit.el --- Memory plans of tile kernels -*- lexical-binding: t; -*-

;; Author: the tilefit authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Tells eglot and lsp-mode of the language server `tilefit'.  Load this file, and in a kernel run `M-x eglot', or let lsp-mode start it
;; beside the Python server that you use.  Eglot has one server a buffer: there `M-x tilefit-eglot' starts this one.

;;; Code:

(defgroup tilefit nil
  "Memory plans of tile kernels."
  :group 'tools)

(defcustom tilefit-server-command '("tilefit" "server")
  "The server and its arguments."
  :type '(repeat string))

(require 'json)

(defvar eglot-server-programs)
(declare-function eglot--current-server-or-lose "eglot")
(declare-function eglot--TextDocumentPositionParams "eglot")
(declare-function jsonrpc-request "jsonrpc")

;;;###autoload
(defun tilefit-eglot ()
  "Serve the Python buffers of this project with tilefit, through eglot."
  (interactive)
  (require 'eglot)
  (let ((eglot-server-programs (cons (cons '(python-mode python-ts-mode) tilefit-server-command) eglot-server-programs)))
    (call-interactively #'eglot)))

(with-eval-after-load 'eglot
  ;; Behind the others: a Python server that is installed keeps its place.
  (add-to-list 'eglot-server-programs (cons '(python-mode python-ts-mode) tilefit-server-command) t))

(declare-function lsp-register-client "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function lsp-activate-on "lsp-mode")

(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection (lambda () tilefit-server-command))
                    :activation-fn (lsp-activate-on "python")
                    :add-on? t
                    :server-id 'tilefit)))

(defun tilefit--show (name text mode)
  "Show TEXT in a read-only buffer NAME in MODE, beside."
  (with-current-buffer (get-buffer-create name)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert text)
      (goto-char (point-min)))
    (funcall mode)
    (setq buffer-read-only t)
    (display-buffer (current-buffer))))

(declare-function lsp-find-workspace "lsp-mode")
(declare-function lsp--text-document-position-params "lsp-mode")
(declare-function lsp-request "lsp-mode")
(defvar lsp--cur-workspace)

(defun tilefit--request (method more)
  "Ask eglot or lsp-mode, whichever serves this buffer, for METHOD at point with MORE in its parameters; a property list."
  (if (bound-and-true-p lsp-mode)
      (let ((lsp--cur-workspace (or (lsp-find-workspace 'tilefit) (user-error "Tilefit does not serve this buffer"))))
        ;; lsp-mode has hash tables or property lists, by its setting; JSON is the same for both.
        (json-parse-string (json-encode (lsp-request (substring (symbol-name method) 1)
                                                     (append (lsp--text-document-position-params) more)))
                           :object-type 'plist :array-type 'list :null-object nil))
    (jsonrpc-request (eglot--current-server-or-lose) method (append (eglot--TextDocumentPositionParams) more))))

(defun tilefit--ask (method &optional more)
  "The answer to METHOD for the kernel at point, with MORE in its parameters."
  (or (tilefit--request method more) (user-error "No kernel at point")))

;;;###autoload
(defun tilefit-memory-map ()
  "Show the memory map of the kernel at point."
  (interactive)
  (let* ((picture (list :picture (list :kind "text" :width (max 40 (min 160 (- (frame-width) 1))))))
         (maps (plist-get (tilefit--ask :tilefit/memoryMap picture) :maps))
         (lines (lambda (map) (mapconcat #'identity (plist-get (plist-get map :text) :lines) "\n"))))
    (tilefit--show "*tilefit map*" (mapconcat lines maps "\n\n") #'special-mode)))

;;;###autoload
(defun tilefit-generated-code ()
  "Show the C++ of the kernel at point."
  (interactive)
  (tilefit--show "*tilefit C++*" (plist-get (tilefit--ask :tilefit/generatedCode) :text) #'c++-mode))

(provide 'tilefit)
;;; tilefit.el ends here
