;;; smoke.el --- A session in a real Emacs with eglot -*- lexical-binding: t; -*-

;; cargo xtask test emacs
;;
;; Needs TILEFIT_SERVER and TILEFIT_EXAMPLE (a copy: it is edited).  Prints TAP, exits 0 when every check holds.

;;; Code:

(require 'python)
(require 'project)
(require 'eglot)
(load (expand-file-name "tilefit.el" (file-name-directory load-file-name)))
(load (expand-file-name "smoke-tap.el" (file-name-directory load-file-name)))

(defun smoke-errors ()
  "The texts of what flymake shows."
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun smoke-replace (from to)
  "Replace FROM by TO."
  (goto-char (point-min))
  (search-forward from)
  (replace-match to t t)
  ;; A batch session has no idle time in which eglot would send it.
  (eglot--signal-textDocument/didChange))

(defun smoke-session ()
  "Edit a kernel."
  (let ((example (getenv "TILEFIT_EXAMPLE")))
    (setq tilefit-server-command (list (getenv "TILEFIT_SERVER") "server")
          eglot-sync-connect 30
          eglot-autoshutdown nil
          eglot-server-programs (list (cons '(python-mode) tilefit-server-command))
          project-find-functions (list (lambda (_) (cons 'transient (file-name-directory example)))))
    (find-file example)
    (python-mode)
    (apply #'eglot (eglot--guess-contact))
    (flymake-mode 1)
    (flymake-start)
    (smoke-ok (smoke-eventually (lambda () (seq-find (lambda (text) (string-match-p "188416" text)) (smoke-errors))))
              "the overflow is reported" (smoke-errors))
    (goto-char (point-min))
    (search-forward "value = pl.load")
    (goto-char (match-beginning 0))
    (let ((hover (format "%S" (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover (eglot--TextDocumentPositionParams)))))
      (smoke-ok (string-match-p "0x0" hover) "hover tells the address" hover))
    (tilefit-memory-map)
    (with-current-buffer "*tilefit map*"
      (smoke-ok (string-match-p "8 KiB over" (buffer-string)) "the memory map is shown" (buffer-string)))
    (tilefit-generated-code)
    (with-current-buffer "*tilefit C++*"
      (smoke-ok (string-match-p "TLOAD" (buffer-string)) "the C++ is shown" (buffer-string)))
    (smoke-replace "64, 256" "64, 192")
    (flymake-start)
    (smoke-ok (smoke-eventually (lambda () (null (smoke-errors)))) "a smaller number clears the error" (smoke-errors))
    (set-buffer-modified-p nil)
    (ignore-errors (eglot-shutdown (eglot-current-server)))))

(smoke-run #'smoke-session)
;;; smoke.el ends here
