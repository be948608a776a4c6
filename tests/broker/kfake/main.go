// kfake is franz-go's broker, at 127.0.0.1 on the port that it is given, until it is killed.  The
// topic that it is given is there from the beginning, with two partitions.
package main

import (
	"log"
	"os"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	_, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.SeedTopics(2, os.Args[2]))
	if err != nil {
		log.Fatal(err)
	}
	select {}
}
